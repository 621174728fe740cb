import type { Diagnosis } from './settings.ts';

/** A request about the way that notifications take from a store to the service. */
export interface RouteRequest {
  /** Notification URL of the app. */
  readonly url: string;
  /** Maximum time to wait for the attempt of a test notification. */
  readonly waitMs: number;
}

/** A part of the test of a route. */
export interface RouteStep {
  /** Noun phrase, such as `webhook endpoint`. */
  readonly name: string;
  /** What the store returned, without a period. */
  readonly outcome: string;
  readonly durationMs: number;
}

/**
 * - `url-missing`: the store does not have a notification URL.
 * - `elsewhere`: the store sends notifications to a URL that is not the app's.
 * - `test-failed`: the store could not deliver a test notification.
 * - `endpoint-disabled`: the store has stopped sending notifications to the URL.
 * - `endpoint-incomplete`: the store sends to the URL, and the service lacks or rejects notifications.
 */
type RouteProblemCode = 'url-missing' | 'elsewhere' | 'test-failed' | 'endpoint-disabled' | 'endpoint-incomplete';

/** A problem that delays or loses notifications. */
export interface RouteProblem extends Diagnosis {
  readonly code: RouteProblemCode;
}

/** The way that notifications take from a store to the service, as far as the store reports it. */
export interface NotificationRoute {
  readonly steps: readonly RouteStep[];
  readonly problems: readonly RouteProblem[];
  /** Number of test notifications that the store delivered to its notification URL. */
  readonly numDelivered: number;
}

/** Runs a part of a test and measures it. */
export async function measureStep<T extends { readonly outcome: string }>(
  name: string,
  run: () => Promise<T>,
): Promise<{ readonly step: RouteStep; readonly result: T }> {
  const startedAt = performance.now();
  const result = await run();
  return { result, step: { name, outcome: result.outcome, durationMs: Math.round(performance.now() - startedAt) } };
}
