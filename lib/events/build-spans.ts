import { createHash } from 'node:crypto';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { EventRecord, ExternalCall, RawEvent } from './event.ts';

/** A recorded event as the source of spans. */
export interface FinishedEvent {
  readonly appName: string;
  readonly event: EventRecord;
  readonly raw: RawEvent;
  /** Event of the request or notification that caused this one, if it is a different one. */
  readonly causeId?: string | undefined;
}

type Attributes = Readonly<Record<string, string | number>>;

/**
 * Kinds and states of spans.
 * @see https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto
 */
const kinds = { server: 2, client: 3, consumer: 5 };
const errorState = 2;

/**
 * Builds the body of a request to an OTLP receiver in JSON: a span of the event, and one of each of its calls.
 * @see https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
export function buildTraceRequest(finished: FinishedEvent, resource: Attributes, now: EpochMillis): object {
  const {
    appName,
    event,
    raw: { request, externalRequests },
    causeId,
  } = finished;
  const { eventId, reqId, type, date, route = type, outcome } = event;
  const { traceId, spanId } = toSpanIds(eventId);
  const cause = causeId === undefined || causeId === eventId ? undefined : toSpanIds(causeId);
  const trace = { traceId: cause?.traceId ?? traceId };
  const { method } = request;
  const span = {
    ...trace,
    spanId,
    ...(cause && { parentSpanId: cause.spanId }),
    name: route,
    kind: typeof method === 'string' ? kinds.server : kinds.consumer,
    ...toTimes(date, now),
    attributes: toAttributes({
      'claimcheck.app': appName,
      'claimcheck.event.id': eventId,
      'claimcheck.event.type': type,
      'claimcheck.request.id': reqId,
      'http.response.status_code': outcome.status,
    }),
    ...(outcome.status >= 500 && { status: { code: errorState, message: outcome.message ?? '' } }),
  };
  const calls = externalRequests.map((call, index) => ({
    ...trace,
    spanId: digest(`${eventId}#${index}`, 8),
    parentSpanId: spanId,
    ...toCallSpan(call),
  }));
  const scopeSpans = [{ scope: { name: 'claimcheck' }, spans: [span, ...calls] }];
  return { resourceSpans: [{ resource: { attributes: toAttributes(resource) }, scopeSpans }] };
}

function toCallSpan({ type: host, platform, url, method, response, error, timing }: ExternalCall): object {
  const isFailed = !response || response.status >= 400;
  return {
    name: `${method} ${host}`,
    kind: kinds.client,
    ...toTimes(timing.startedAt, timing.endedAt),
    attributes: toAttributes(
      omitUndefined({
        'claimcheck.store': platform,
        'http.request.method': method,
        'server.address': host,
        'url.full': url,
        'http.response.status_code': response?.status,
      }),
    ),
    ...(isFailed && { status: { code: errorState, message: error?.message ?? '' } }),
  };
}

/**
 * An event id is a UUID: it is the id of the trace, and its last groups, which other logs contain, are the id of the
 * span. The id of an attempt has another form.
 */
function toSpanIds(eventId: string): { readonly traceId: string; readonly spanId: string } {
  const hex = eventId.replaceAll('-', '');
  const traceId = /^[0-9a-f]{32}$/.test(hex) ? hex : digest(eventId, 16);
  return { traceId, spanId: traceId.slice(16) };
}

const digest = (text: string, bytes: number): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, 2 * bytes);

const toTimes = (startedAt: EpochMillis, endedAt: EpochMillis) => ({
  startTimeUnixNano: toNanos(startedAt),
  endTimeUnixNano: toNanos(Math.max(startedAt, endedAt)),
});
const toNanos = (date: EpochMillis): string => `${Math.trunc(date)}000000`;

const toAttributes = (attributes: Attributes): object[] =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }));
