import type { App, VerifiedKey } from '../lib/apps/app.ts';
import { commandLineKey } from '../lib/entitlements/grant.ts';
import { createEventRecorder, type EventRecorder } from '../lib/events/event-recorder.ts';
import { recordWorkerEvent } from '../lib/events/record-worker-event.ts';
import { ServiceError } from '../lib/foundation/errors.ts';
import { getService } from './get-service.ts';

interface Recorded {
  readonly type: string;
  readonly params: object;
  readonly body: object;
}

/** Runs with the key of the command line, and records one event like the endpoint. */
export async function recordCommand<T extends object>(
  app: App,
  { type, params, body }: Recorded,
  run: (caller: { readonly key: VerifiedKey; readonly recorder: EventRecorder }) => Promise<T>,
): Promise<T> {
  const recorder = createEventRecorder({ type, date: getService().now() });
  const key = { ...commandLineKey, level: 'secret' } as const;
  recorder.setKey(key);
  const request = { route: 'command line', params, body };
  try {
    const response = await run({ key, recorder });
    await recordWorkerEvent(getService(), app.name, { recorder, request, response });
    return response;
  } catch (error) {
    const failure = ServiceError.fromUnknown(error);
    await recordWorkerEvent(getService(), app.name, { recorder, request, failure });
    throw error;
  }
}
