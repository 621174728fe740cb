import type { CohortInterval } from '../../../lib/statistics/cohort-contract.ts';
import { formatDay } from '../../format.ts';
import { getCohortEnd, toCohortName } from './filters.ts';
import { RowsLink } from './rows-link.tsx';
import type { Segment } from './segments.ts';

interface CohortLinkProps {
  readonly segment: Segment;
  /** First day of the cohort. */
  readonly start: string;
  readonly interval: CohortInterval;
}

/** The name of a cohort, which leads to the payments of its days. */
export const CohortLink = ({ segment, start, interval }: CohortLinkProps) => (
  <RowsLink segment={segment} range={{ first: start, last: getCohortEnd(start, interval) }}>
    {formatDay(toCohortName(start, interval))}
  </RowsLink>
);
