import { useMemo } from 'preact/hooks';
import { getNow } from '../clock.ts';
import { Notice } from '../components/notice.tsx';
import { DateTime } from '../components/values.tsx';
import { formatRelative } from '../format.ts';

/** Figures that lag by more are not presented as final. */
const maxLagMs = 60_000;

interface CountedUntilProps {
  /** A response of figures. Its lag is measured when it arrives. */
  readonly figures: { readonly countedUntil: string } | undefined;
}

/** States until when figures are counted, if it is more than a minute ago. */
export function CountedUntil({ figures }: CountedUntilProps) {
  const receivedAt = useMemo(getNow, [figures]);
  if (!figures) return null;
  const countedUntil = new Date(figures.countedUntil);
  if (receivedAt - countedUntil.getTime() <= maxLagMs) return null;
  return (
    <Notice tone="warn" icon="alert">
      The figures are counted until <DateTime value={figures.countedUntil} />,{' '}
      {formatRelative(countedUntil, receivedAt)}. They lack what happened since then.
    </Notice>
  );
}
