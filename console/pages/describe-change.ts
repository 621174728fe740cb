import { formatChange } from '../format.ts';

interface Change {
  readonly current: number;
  readonly previous: number;
  readonly format: (value: number) => string;
  /** Name of the previous days or cohorts in a sentence. */
  readonly label: string;
}

/** Describes how a figure differs from the one before. */
export function describeChange({ current, previous, format, label }: Change): string {
  // The shown figure can contain today, unlike the compared one: it is not "also" 0.
  if (previous === 0) return `${format(0)} in ${label}`;
  if (current === previous) return `Also ${format(previous)} in ${label}`;
  return `${formatChange(current, previous)} from ${format(previous)}`;
}
