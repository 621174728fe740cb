import { ServiceError } from '../foundation/errors.ts';
import { logError } from '../foundation/log.ts';
import type { Service } from '../foundation/service.ts';
import { type EventRecorder, exportSpans } from './event-recorder.ts';
import { saveEvent } from './event-table.ts';

/** Result of one piece of work that no client waits for. */
interface WorkerResult {
  readonly recorder: EventRecorder;
  /** Shown as the request in the raw view of the event, with the allowlisted fields of its parts. */
  readonly request: {
    readonly route: string;
    readonly params?: object;
    readonly notification?: object;
    readonly headers?: object;
    readonly body?: unknown;
  };
  readonly response?: unknown;
  readonly failure?: ServiceError;
  /** Event of the request or notification that caused the work. */
  readonly causeId?: string | undefined;
}

/** Records the event of a worker. A failed write of the event is logged only: the work itself is done. */
export async function recordWorkerEvent(
  service: Service,
  appName: string,
  { recorder, request, response = {}, failure, causeId }: WorkerResult,
): Promise<void> {
  const { event, raw } = recorder.finish({
    request,
    response,
    outcome: { status: failure?.status ?? 200, ok: !failure },
    ...(failure && { error: failure }),
  });
  const saved = saveEvent(service, appName, event, raw).catch((cause: unknown) => {
    logError({ app: appName, eventId: recorder.eventId, route: request.route }, ServiceError.fromUnknown(cause));
  });
  await Promise.all([saved, exportSpans(service, { appName, event, raw, causeId })]);
}
