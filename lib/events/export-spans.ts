import type { Service } from '../foundation/service.ts';
import type { FinishedEvent } from './build-spans.ts';

/** Sends the spans of an event, with the deployment option `otlpTracesUrl` only, which loads the code. Never fails. */
export async function exportSpans(service: Service, event: FinishedEvent): Promise<void> {
  if (service.spans) await (await import('./send-spans.ts')).sendSpans(service, event);
}
