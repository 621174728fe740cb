import { ServiceError } from '../shared/errors.ts';
import type { StreamRecord } from '../shared/stream-record.ts';
import type { EpochMillis } from '../shared/time.ts';
import { minuteMs, secondMs } from '../shared/time.ts';
import type { StreamMarkerRepository } from './stream-marker-repository.ts';

interface WaitContext {
  now(): EpochMillis;
  readonly streamMarkers: StreamMarkerRepository;
  readonly wait: (ms: number) => Promise<void>;
}

const pollIntervalMs = 2 * secondMs;
const timeoutMs = 5 * minuteMs;
/** Markers read in one poll. The next ones are read after these are deleted. */
const markersPerPoll = 100;

/**
 * Waits until the aggregator has counted all earlier writes of the app: writes stream markers and polls until they are
 * deleted. Throws `Conflict` after five minutes, because the aggregator is then far behind or stopped.
 */
export async function waitForStream(appName: string, { streamMarkers, now, wait }: WaitContext): Promise<void> {
  const deadline = now() + timeoutMs;
  let remaining = await streamMarkers.create(appName, now());
  while (remaining.length > 0) {
    const polled = await streamMarkers.findRemaining(remaining.slice(0, markersPerPoll));
    remaining = [...polled, ...remaining.slice(markersPerPoll)];
    if (polled.length === 0) continue;
    if (now() >= deadline)
      throw new ServiceError('Conflict', 'The aggregator is more than five minutes behind. Try again later.');
    await wait(pollIntervalMs);
  }
}

/** Deletes the markers among the records, which signals `waitForStream` that the earlier records are counted. */
export async function deletePassedMarkers(
  records: readonly StreamRecord[],
  { streamMarkers }: Pick<WaitContext, 'streamMarkers'>,
): Promise<void> {
  const markers = records.filter(({ kind, eventName }) => kind === 'streamMarker' && eventName === 'INSERT');
  if (markers.length > 0) await streamMarkers.delete(markers.map(({ key }) => key));
}
