import type { ComponentChildren } from 'preact';
import { DateTime } from './values.tsx';

export interface TimelineEntry {
  readonly id: string;
  /** ISO 8601 or epoch milliseconds. */
  readonly date: string | number;
  readonly title: ComponentChildren;
  readonly detail?: ComponentChildren;
  readonly tone?: 'neutral' | 'good' | 'warn' | 'bad' | 'info';
}

/** Entries in the given order, with times in the viewer's zone and in UTC. */
export const Timeline = ({
  entries,
  label,
}: {
  readonly entries: readonly TimelineEntry[];
  readonly label: string;
}) => (
  <ol class="timeline" aria-label={label}>
    {entries.map(({ id, date, title, detail, tone = 'neutral' }) => (
      <li key={id} class={`timeline-${tone}`}>
        <div class="timeline-time">
          <DateTime value={date} kind="both" />
        </div>
        <div>
          <div class="timeline-title">{title}</div>
          {detail && <div class="quiet">{detail}</div>}
        </div>
      </li>
    ))}
  </ol>
);
