import type { ComponentChildren } from 'preact';
import { EmptyState } from '../components/notice.tsx';
import { Link } from '../router.tsx';

interface EmptyListProps {
  /** Noun of a row, such as `customer`. */
  readonly noun: string;
  /** Path of the page of the list. */
  readonly path: string;
  readonly isFiltered: boolean;
  /** The app has rows, sandbox included. */
  readonly hasRows: boolean;
  /** How the first row appears. */
  readonly children: ComponentChildren;
}

/** Replaces a list without rows: its filters match none, all rows are hidden sandbox rows, or there are none yet. */
export const EmptyList = ({ noun, path, isFiltered, hasRows, children }: EmptyListProps) =>
  isFiltered ? (
    <EmptyState title={`No ${noun} matches the filters.`}>Change or remove the filters.</EmptyState>
  ) : hasRows ? (
    <EmptyState title={`There are only sandbox ${noun}s.`}>
      <Link to={path} query={{ sandbox: 'true' }}>
        Show sandbox {noun}s
      </Link>
    </EmptyState>
  ) : (
    <EmptyState title={`There are no ${noun}s yet.`}>
      {children} <Link to="/reference">See the API reference</Link>
    </EmptyState>
  );
