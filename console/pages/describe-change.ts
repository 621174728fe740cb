import { formatChange } from '../format.ts';

interface Change {
  /** Value in the complete days. */
  readonly current: number;
  /** Value with today. Default: `current`. */
  readonly shown?: number | undefined;
  readonly previous: number;
  readonly format: (value: number) => string;
  /** Name of the previous days or cohorts in a sentence. */
  readonly label: string;
}

/** Describes how a figure differs from the one before. */
export function describeChange({ current, shown = current, previous, format, label }: Change): string {
  // The shown figure can contain today, unlike the compared one: it is not "also" 0.
  if (previous === 0) return `${format(0)} in ${label}`;
  // A figure that is all of today has not fallen by 100 %.
  if (current === 0 && shown !== 0) return `${format(0)} until yesterday, ${format(previous)} in ${label}`;
  if (current === previous) return `Also ${format(previous)} in ${label}`;
  return `${formatChange(current, previous)} from ${format(previous)}`;
}
