import type { FiguresDimension, ProceedsSource } from '../../../lib/statistics/figures-contract.ts';
import type { Loaded } from '../../api/use-api.ts';
import type { FiguresFilters } from './filters.ts';
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

/** Builds the line of a figure in a chart. */
export const toSeries = <Item>({ label, read }: FigureMetric<Item>, items: readonly Item[]) => ({
  label,
  values: items.map((item) => read([item]) ?? null),
});

/** Figures of one value of the dimension. */
interface Group<Item> {
  readonly segment: Segment;
  /** Intervals or cohorts. */
  readonly items: readonly Item[];
}

/** A response in the terms of all pages of figures. */
export interface Figures<Item> {
  readonly total: readonly Item[];
  readonly groups: readonly Group<Item>[] | undefined;
}

/** Reads the figures of a response with intervals. */
export const toIntervalFigures = <Row>({ rows, groups }: IntervalResponse<Row>): Figures<Row> => ({
  total: rows,
  groups: groups?.map(({ rows: items, ...segment }) => ({ segment, items })),
});

/** Reads the figures of a response with cohorts. */
export const toCohortFigures = <Cohort>({ cohorts, groups }: CohortResponse<Cohort>): Figures<Cohort> => ({
  total: cohorts,
  groups: groups?.map(({ cohorts: items, ...segment }) => ({ segment, items })),
});

interface IntervalResponse<Row> {
  readonly rows: readonly Row[];
  readonly groups?: readonly (Segment & { readonly rows: readonly Row[] })[] | undefined;
}

interface CohortResponse<Cohort> {
  readonly cohorts: readonly Cohort[];
  readonly groups?: readonly (Segment & { readonly cohorts: readonly Cohort[] })[] | undefined;
}

interface Response {
  readonly countedUntil: string;
  readonly by: FiguresDimension;
  readonly proceedsSource?: ProceedsSource;
  readonly unconvertedShare: number;
  readonly products?: { readonly skip: number; readonly limit: number; readonly total?: number };
}

/** The three requests of a page. Pages of cohorts compare the whole period: `complete` is `current`. */
interface Requests<T> {
  readonly current: Loaded<T>;
  readonly complete: Loaded<T>;
  readonly previous: Loaded<T>;
}

export interface GroupView<Item> extends Group<Item> {
  /** The complete days and the days before; undefined if they are not loaded, empty if the group is not in them. */
  readonly complete: readonly Item[] | undefined;
  readonly previous: readonly Item[] | undefined;
}

/** The figures that a page shows. Figures whose request failed are undefined. */
export interface FiguresView<Item> {
  readonly items: readonly Item[] | undefined;
  readonly complete: readonly Item[] | undefined;
  readonly previous: readonly Item[] | undefined;
  readonly groups: readonly GroupView<Item>[] | undefined;
  /** Value of the dimension that is shown alone. */
  readonly segment: Segment;
  readonly products: Response['products'];
  readonly proceedsSource: ProceedsSource | undefined;
  /** Part of the payments whose currency has no rate: the amounts lack them. */
  readonly unconvertedShare: number;
  readonly isStale: boolean;
  /** The shown response. */
  readonly figures: Pick<Response, 'countedUntil'> | undefined;
  /** First failed request. */
  readonly failed: { readonly error: unknown; readonly reload: () => void } | undefined;
}

/** Combines the responses. Never compares figures of different dimensions or periods. */
export function buildFiguresView<T extends Response, Item>(
  { current, complete, previous }: Requests<T>,
  toFigures: (response: T) => Figures<Item>,
  { by, only }: Pick<FiguresFilters, 'by' | 'only'>,
): FiguresView<Item> {
  const read = ({ data }: Loaded<T>) => (data?.by === by ? toFigures(data) : undefined);
  const isComparable = ![current, complete, previous].some(({ isStale }) => isStale);
  const [figures, whole, before] = [
    read(current),
    isComparable ? read(complete) : undefined,
    isComparable ? read(previous) : undefined,
  ];
  const select = (part: Figures<Item> | undefined) =>
    only === undefined ? part?.total : part && findItems(part, only);
  const groups = figures?.groups?.map(({ segment, items }) => {
    const key = toSegmentKey(segment);
    return {
      segment,
      items,
      complete: whole && findItems(whole, key),
      previous: before && findItems(before, key),
    };
  });
  return {
    items: select(figures),
    complete: select(whole),
    previous: select(before),
    groups,
    segment: groups?.find(({ segment }) => toSegmentKey(segment) === only)?.segment ?? {},
    products: current.data?.products,
    proceedsSource: current.data?.proceedsSource,
    unconvertedShare: current.data?.unconvertedShare ?? 0,
    isStale: current.isStale,
    figures: current.data,
    failed: [current, complete, previous].find(({ error }) => error !== undefined),
  };
}

const findItems = <Item>({ groups = [] }: Figures<Item>, key: string): readonly Item[] =>
  groups.find(({ segment }) => toSegmentKey(segment) === key)?.items ?? [];
