import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { describeError } from '../api/api-error.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';

/** Shows an error with its problem and what to do. `onRetry` adds a button. Without an error, shows nothing. */
export function ErrorNotice({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  if (error === undefined) return null;
  const { problem, advice } = describeError(error);
  return (
    <div class="notice notice-bad" role="alert">
      <Icon name="alert" />
      <p>
        <strong>{problem}</strong> {advice}
      </p>
      {onRetry && (
        <Button onClick={onRetry} icon="refresh">
          Try again
        </Button>
      )}
    </div>
  );
}

interface NoticeProps {
  readonly tone?: 'info' | 'good' | 'warn' | 'bad';
  readonly icon?: IconName;
  readonly children: ComponentChildren;
}

export const Notice = ({ tone = 'info', icon, children }: NoticeProps) => (
  <div class={`notice notice-${tone}`}>
    {icon && <Icon name={icon} />}
    <div>{children}</div>
  </div>
);

/** Replaces a list without entries. `children` says what to do next. */
export const EmptyState = ({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <p class="empty-title">{title}</p>
    {children && <div class="empty-advice">{children}</div>}
  </div>
);

/** True if the data of this part of a page could not be loaded: its placeholders end. The page shows the error. */
const LoadFailure = createContext(false);
export const useLoadFailure = (): boolean => useContext(LoadFailure);

/** Ends the placeholders of its children if there is an error. */
export const EndPlaceholders = ({
  error,
  children,
}: {
  readonly error: unknown;
  readonly children: ComponentChildren;
}) => <LoadFailure.Provider value={error !== undefined}>{children}</LoadFailure.Provider>;

/** Placeholder with the height of the text that is loading. */
export const Skeleton = ({ lines = 3 }: { readonly lines?: number }) =>
  useLoadFailure() ? (
    <p class="quiet">Not loaded.</p>
  ) : (
    <div class="skeleton" aria-hidden="true">
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} />
      ))}
    </div>
  );
