import type { StatsInterval } from '../../../lib/statistics/breakdown-contract.ts';
import type { FiguresDimension, ProceedsSource } from '../../../lib/statistics/figures-contract.ts';
import type { Loaded } from '../../api/use-api.ts';
import { type Segment, toSegmentKey } from './segments.ts';

/** A figure of intervals or cohorts together. */
export interface FigureMetric<Item> {
  readonly id: string;
  readonly label: string;
  /** Undefined if there is none, such as a rate of nothing. */
  readonly read: (items: readonly Item[]) => number | undefined;
  readonly format: (value: number) => string;
}

/** Returns the reader of the sum of a number. */
export const sumOf =
  <Item>(read: (item: Item) => number) =>
  (items: readonly Item[]): number =>
    items.reduce((total, item) => total + read(item), 0);

/** Intervals with the whole range in one, or cohorts, whose figures are read from all of them. */
interface Items<Item> {
  readonly totals?: Item;
  readonly rows?: readonly Item[];
  readonly cohorts?: readonly Item[];
}

export interface FiguresResponse<Item> extends Items<Item> {
  readonly interval: StatsInterval;
  readonly countedUntil: string;
  readonly by: FiguresDimension;
  readonly proceedsSource?: ProceedsSource;
  readonly unconvertedShare: number;
  readonly products?: { readonly skip: number; readonly limit: number; readonly total?: number };
  readonly groups?: readonly (Segment & Items<Item>)[];
}

/** Figures of one value of the dimension. */
export interface GroupView<Item> extends Figures<Item> {
  readonly segment: Segment;
}

/** Intervals or cohorts, and what the figures of the whole range are read from. Undefined if they are not loaded. */
interface Figures<Item> {
  readonly items: readonly Item[] | undefined;
  readonly whole: readonly Item[] | undefined;
  /** The complete days and the days before; empty if a group is not in them. */
  readonly complete: readonly Item[] | undefined;
  readonly previous: readonly Item[] | undefined;
}

/** The figures that a page shows. Figures whose request failed are undefined. */
export interface FiguresView<Item> extends Figures<Item> {
  readonly groups: readonly GroupView<Item>[] | undefined;
  /** The shown response. */
  readonly figures: FiguresResponse<Item> | undefined;
  readonly isStale: boolean;
  /** First failed request. */
  readonly failed: { readonly error: unknown; readonly reload: () => void } | undefined;
}

/** The three requests of a page. Pages of cohorts compare the whole period: `complete` is `current`. */
type Requests<Item> = Readonly<Record<'current' | 'complete' | 'previous', Loaded<FiguresResponse<Item>>>>;

/** Combines the responses. Never compares figures of different dimensions, filters or periods. */
export function buildFiguresView<Item>(
  { current, complete, previous }: Requests<Item>,
  by: FiguresDimension,
): FiguresView<Item> {
  const requests = [current, complete, previous];
  const isComparable = !requests.some(({ isStale }) => isStale);
  const select = ({ data }: Loaded<FiguresResponse<Item>>) => (data?.by === by ? data : undefined);
  const figures = select(current);
  const read = (find: (response: FiguresResponse<Item>) => Items<Item> | undefined): Figures<Item> => {
    const readWhole = (response: FiguresResponse<Item> | undefined): readonly Item[] | undefined => {
      if (!response) return undefined;
      const { totals, cohorts = totals === undefined ? [] : [totals] } = find(response) ?? {};
      return cohorts;
    };
    const { rows, cohorts = rows } = (figures && find(figures)) ?? {};
    return {
      items: cohorts,
      whole: readWhole(figures),
      complete: isComparable ? readWhole(select(complete)) : undefined,
      previous: isComparable ? readWhole(select(previous)) : undefined,
    };
  };
  return {
    ...read((response) => response),
    groups: figures?.groups?.map(({ totals: _totals, rows: _rows, cohorts: _cohorts, ...segment }) => {
      const key = toSegmentKey(segment);
      return { segment, ...read(({ groups }) => groups?.find((group) => toSegmentKey(group) === key)) };
    }),
    figures,
    isStale: current.isStale,
    failed: requests.find(({ error }) => error !== undefined),
  };
}
