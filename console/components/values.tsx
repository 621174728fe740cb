import { type ComponentChildren, toChildArray } from 'preact';
import { useState } from 'preact/hooks';
import { useNow } from '../clock.ts';
import {
  formatDate,
  formatDateTime,
  formatMinute,
  formatMoney,
  formatPlatform,
  formatRelative,
  formatUsd,
  formatUtc,
} from '../format.ts';
import { announce } from './announcer.tsx';
import { Icon } from './icon.tsx';
import { useLoadFailure } from './notice.tsx';

/** Placeholder of a value that is absent. */
export const None = () => <span class="quiet none">–</span>;

interface MoneyProps {
  readonly amountMicros: number | null | undefined;
  readonly currency: string | null | undefined;
  /** Shown after the amount, if the currency is another. */
  readonly amountUsd?: number | null | undefined;
}

/** An amount in the viewer's format. */
export function Money({ amountMicros, currency, amountUsd }: MoneyProps) {
  if (amountMicros === null || amountMicros === undefined || !currency)
    return amountUsd == null ? <None /> : <Usd amount={amountUsd} />;
  return (
    <span class="number">
      {formatMoney(amountMicros, currency)}
      {amountUsd != null && currency !== 'USD' && <span class="quiet"> {formatUsd(amountUsd)}</span>}
    </span>
  );
}

/** An amount of US dollars, such as `amountUSD`. */
export const Usd = ({ amount }: { readonly amount: number }) => <span class="number">{formatUsd(amount)}</span>;

interface DateTimeProps {
  /** ISO 8601 or epoch milliseconds. */
  readonly value: string | number | null | undefined;
  /**
   * `both`: with the time in UTC below. `relative`: such as "3 days ago". `date`: without the time of day. For tables,
   * `day`: the same, shorter. `second`, `minute`: without the current year. The title has the time in UTC always.
   */
  readonly kind?: keyof typeof formats;
}

const formats = {
  local: formatDateTime,
  both: formatDateTime,
  relative: formatRelative,
  date: (date: Date) => formatDate(date),
  day: (date: Date) => formatDate(date, 'medium'),
  minute: (date: Date, now: number) => formatMinute(date, now),
  second: (date: Date, now: number) => formatMinute(date, now, true),
} as const;

/** A date-time in the viewer's language and time zone. */
export function DateTime({ value, kind = 'local' }: DateTimeProps) {
  const now = useNow();
  const date = value === null || value === undefined ? undefined : new Date(value);
  if (!date || Number.isNaN(date.getTime())) return <None />;
  const text = formats[kind](date, now);
  const title = kind === 'relative' ? `${formatDateTime(date)} (${formatUtc(date)})` : formatUtc(date);
  return (
    <time class="number" dateTime={date.toISOString()} title={title}>
      {text}
      {kind === 'both' && <small class="quiet block">{formatUtc(date)}</small>}
    </time>
  );
}

/** Name of a store. */
export const Platform = ({ value }: { readonly value: string }) => <span title={value}>{formatPlatform(value)}</span>;

interface CopyIdProps {
  readonly value: string;
  /** Name of the value for screen readers, such as "purchase id". */
  readonly label: string;
  /** Shown instead of the value, for example as a link. */
  readonly children?: ComponentChildren;
}

/** An id with a button that copies it. A long id is shortened in the middle on the screen, never in the clipboard. */
export function CopyId({ value, label, children }: CopyIdProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
    announce(`The ${label} is copied.`);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <span class="copy-id">
      <span class="mono" title={value}>
        {children ?? shorten(value)}
      </span>
      <button type="button" class="copy-button" aria-label={`Copy the ${label}`} title="Copy" onClick={copy}>
        <Icon name={isCopied ? 'check' : 'copy'} />
      </button>
    </span>
  );
}

/** Shortens an id in the middle: its beginning has the store, its end differs most. */
export function shorten(id: string, maxLength = 34): string {
  if (id.length <= maxLength) return id;
  const endLength = Math.floor(maxLength / 3);
  return `${id.slice(0, maxLength - endLength - 1)}…${id.slice(-endLength)}`;
}

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'info';

/** A short state, such as "Active". The text alone states the meaning; the color repeats it. */
export const Badge = ({
  tone = 'neutral',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}) => <span class={`badge badge-${tone}`}>{children}</span>;

/** A figure with its name, and a comparison or an explanation below it. */
export const Figure = ({
  label,
  value,
  detail,
  line,
}: {
  readonly label: string;
  readonly value: ComponentChildren;
  /** Course of the figure. */
  readonly line?: ComponentChildren;
  readonly detail?: ComponentChildren;
}) => (
  <div class="figure">
    <dt>{label}</dt>
    <dd class="figure-value">{value ?? <FigurePlaceholder />}</dd>
    <dd class="figure-detail">
      {line}
      {detail ?? '\u00a0'}
    </dd>
  </div>
);

const FigurePlaceholder = () => (useLoadFailure() ? <None /> : <span class="skeleton-text" aria-hidden="true" />);

/** Figures side by side. */
export const Figures = ({
  isStale = false,
  children,
}: {
  readonly isStale?: boolean;
  readonly children: ComponentChildren;
}) => {
  const count = toChildArray(children).length;
  return (
    <dl
      class={isStale ? 'figures is-stale' : 'figures'}
      style={{ '--columns': count > 5 ? Math.ceil(count / 2) : count }}
    >
      {children}
    </dl>
  );
};
