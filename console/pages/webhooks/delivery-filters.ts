import type { RouteQuery } from '../../router.tsx';
import type { DeliveryState } from './delivery-state.ts';

export const states = [
  ['', 'All'],
  ['pending', 'Waiting for a retry'],
  ['delivered', 'Delivered'],
  ['dead', 'Dead'],
  ['redirected', 'Redirected'],
] as const;

export interface DeliveryFilters {
  readonly state: DeliveryState | '';
  readonly applicationUsername: string;
  readonly url: string;
  /** Days, such as `2026-03-01`. */
  readonly startdate: string;
  readonly enddate: string;
}

/** Reads the filters from the URL. Ignores a state that does not exist. */
export const toFilters = ({ state, user = '', url = '', from = '', to = '' }: RouteQuery): DeliveryFilters => ({
  state: states.find(([value]) => value === state)?.[0] ?? '',
  applicationUsername: user,
  url,
  startdate: from,
  enddate: to,
});
