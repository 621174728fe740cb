import { maxRows } from './tool.ts';

type Row = Readonly<Record<string, unknown>>;

/** The rows or cohorts of the app, or of one platform, product, country or entitlement. */
interface Group {
  readonly rows?: readonly Row[];
  readonly cohorts?: readonly Row[];
  readonly platform?: unknown;
  readonly productId?: unknown;
  readonly country?: unknown;
  readonly entitlement?: unknown;
}

/** Periods of a cohort: a year of months, or a quarter of weeks. */
const maxPeriods = 13;

/**
 * Makes one list of the rows of all groups, each with the segment of its group. Beyond the maximum it keeps whole
 * groups, and the latest rows if the first group alone is larger.
 */
export function flattenGroups(groups: readonly Group[]) {
  const segments = groups.map(({ rows, cohorts, platform, productId, country, entitlement }) =>
    (rows ?? cohorts ?? []).map((row) => ({
      ...omitAbsent({ platform, productId, country, entitlement }),
      ...shortenPeriods(row),
    })),
  );
  const total = segments.reduce((sum, { length }) => sum + length, 0);
  let kept: Row[] = (segments[0] ?? []).slice(-maxRows);
  for (const rows of segments.slice(1)) {
    if (kept.length + rows.length > maxRows) break;
    kept = [...kept, ...rows];
  }
  return { rows: kept, ...(total > kept.length && { omittedRows: total - kept.length }) };
}

const omitAbsent = (segment: Row): Row =>
  Object.fromEntries(Object.entries(segment).filter(([, value]) => value !== undefined));

function shortenPeriods(row: Row): Row {
  const { periods, ages } = row;
  if (Array.isArray(periods)) return { ...row, periods: periods.slice(0, maxPeriods) };
  return Array.isArray(ages) ? { ...row, ages: ages.slice(0, maxPeriods) } : row;
}
