import { useEffect, useRef } from 'preact/hooks';

/** Calls `onChange` if a value differs from the previous one. `undefined` is a value that is not loaded yet. */
export function useChange(value: string | undefined, onChange: () => void): void {
  const previous = useRef(value);
  useEffect(() => {
    if (value === undefined) return;
    if (previous.current !== undefined && previous.current !== value) onChange();
    previous.current = value;
  }, [value]);
}
