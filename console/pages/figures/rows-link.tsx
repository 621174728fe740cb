import type { ComponentChildren } from 'preact';
import { Link } from '../../router.tsx';
import type { Range } from '../periods.ts';
import { type RowsKind, type Segment, toRowsLink } from './segments.ts';

interface RowsLinkProps {
  readonly kind?: RowsKind | undefined;
  readonly segment?: Segment;
  readonly range: Range;
  readonly children: ComponentChildren;
}

/** Opens the rows behind a figure. */
export const RowsLink = ({ kind = 'payments', segment = {}, range, children }: RowsLinkProps) => (
  <Link {...toRowsLink(kind, segment, range)}>{children}</Link>
);
