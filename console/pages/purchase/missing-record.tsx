import type { ComponentChildren } from 'preact';
import { isApiError } from '../../api/api-error.ts';
import { EmptyState, ErrorNotice } from '../../components/notice.tsx';
import { Link } from '../../router.tsx';

interface MissingRecordProps {
  readonly error: unknown;
  readonly onRetry: () => void;
  readonly title: string;
  /** Text of the search that is offered. */
  readonly query: string;
  /** What to do if the record is not found. */
  readonly children: ComponentChildren;
}

/** Replaces a page whose record is not found or cannot be loaded. */
export const MissingRecord = ({ error, onRetry, title, query, children }: MissingRecordProps) =>
  isApiError(error) && (error.status === 404 || error.status === 400) ? (
    <EmptyState title={title}>
      {children}{' '}
      <Link to="/customers" query={{ q: query }}>
        Search for it
      </Link>
    </EmptyState>
  ) : (
    <ErrorNotice error={error} onRetry={onRetry} />
  );
