import { ServiceError } from '../foundation/errors.ts';
import type { Service } from '../foundation/service.ts';
import type { StreamRecord } from '../foundation/stream-record.ts';
import { minuteMs, secondMs } from '../foundation/time.ts';
import { createStreamMarkers, deleteStreamMarkers, findRemainingMarkers } from './stream-marker-table.ts';

const pollIntervalMs = 2 * secondMs;
const timeoutMs = 5 * minuteMs;

/** Markers read in one poll. The next ones are read after these are deleted. */
const markersPerPoll = 100;

/**
 * Waits until the aggregator has counted all earlier writes of the app: writes stream markers and polls until they are
 * deleted. Throws `Conflict` after five minutes, because the aggregator is then far behind or stopped.
 */
export async function waitForStream(
  service: Service,
  appName: string,
  wait: (ms: number) => Promise<void>,
): Promise<void> {
  const deadline = service.now() + timeoutMs;
  let remaining = await createStreamMarkers(service, appName);
  while (remaining.length > 0) {
    const polled = await findRemainingMarkers(service, remaining.slice(0, markersPerPoll));
    remaining = [...polled, ...remaining.slice(markersPerPoll)];
    if (polled.length === 0) continue;
    if (service.now() >= deadline)
      throw new ServiceError('Conflict', 'The aggregator is more than five minutes behind. Try again later.');
    await wait(pollIntervalMs);
  }
}

/** Deletes the markers among the records, which signals `waitForStream` that the earlier records are counted. */
export async function deletePassedMarkers(service: Service, records: readonly StreamRecord[]): Promise<void> {
  const markers = records.filter(({ kind, eventName }) => kind === 'streamMarker' && eventName === 'INSERT');
  if (markers.length > 0)
    await deleteStreamMarkers(
      service,
      markers.map(({ key }) => key),
    );
}
