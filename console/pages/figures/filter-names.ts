import type { RouteQuery } from '../../router.tsx';

/** Filters of figures in the link. They are kept from one page of figures to the next. */
export const filterNames = ['platform', 'product', 'country', 'entitlement'] as const;

export const pickFilters = (query: RouteQuery): Partial<RouteQuery> =>
  Object.fromEntries(filterNames.map((name) => [name, query[name]]));
