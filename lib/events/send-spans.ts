import { ServiceError } from '../foundation/errors.ts';
import { logWarning } from '../foundation/log.ts';
import { createPostSpans } from '../foundation/outgoing/post-spans.ts';
import { perContainer, type Service } from '../foundation/service.ts';
import { minuteMs } from '../foundation/time.ts';
import { buildTraceRequest, type FinishedEvent } from './build-spans.ts';

/** What a container keeps: its client, and the time of the last logged failure, which limits the lines of the log. */
interface Exporter {
  post?: ReturnType<typeof createPostSpans>;
  failedAt: number;
}

const findExporter = perContainer((): Exporter => ({ failedAt: Number.NEGATIVE_INFINITY }));

/** Sends the spans of an event. Never fails: spans that cannot be sent are lost. */
export async function sendSpans(service: Service, event: FinishedEvent): Promise<void> {
  const { url = '', environment = {} } = service.spans ?? {};
  const { METRICS_NAMESPACE: namespace = '', AWS_LAMBDA_FUNCTION_NAME: name } = environment;
  const resource = { 'service.name': namespace.split('/').at(-1) || 'Claimcheck', ...(name && { 'faas.name': name }) };
  const exporter = findExporter(service);
  exporter.post ??= createPostSpans(url, environment);
  try {
    await exporter.post(JSON.stringify(buildTraceRequest(event, resource, service.now())));
  } catch (cause) {
    const now = service.now();
    if (now - exporter.failedAt < minuteMs) return;
    exporter.failedAt = now;
    logWarning({ app: event.appName }, new ServiceError('ConnectionFailed', 'The spans cannot be sent.', { cause }));
  }
}
