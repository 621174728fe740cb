import { useEffect, useRef } from 'preact/hooks';

/** Calls `onChange` if a value differs from the first one after `isReady`. */
export function useChange(value: string, isReady: boolean, onChange: () => void): void {
  const previous = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (!isReady) return;
    if (previous.current !== undefined && previous.current !== value) onChange();
    previous.current = value;
  }, [value, isReady]);
}
