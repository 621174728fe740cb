import * as v from 'valibot';
import { TagType } from './enumerations.ts';
import { DateTime } from './schemas.ts';

const Rows = v.array(v.looseObject({}));

/** Name and level of an API key. */
export const RequestKey = v.strictObject({
  id: v.string(),
  name: v.string(),
  level: v.picklist(['public', 'secret', 'viewer', 'support']),
});

export const RequestContext = v.strictObject({
  appName: v.string(),
  eventType: v.string(),
  eventDate: DateTime,
  eventDateMs: v.number(),
  applicationUsername: v.exactOptional(v.string()),
  req_id: v.exactOptional(v.string()),
  // Spec: not shown. The key of the request.
  key: v.exactOptional(RequestKey),
  /** Whether the content includes the details of a receipt validation. */
  includeHeavyData: v.boolean(),
});
export type RequestContext = v.InferOutput<typeof RequestContext>;

/** Lists of an event's content. All are always present, because clients loop over them without a check. */
export const contentLists = {
  products: Rows,
  purchases: Rows,
  transactions: Rows,
  claims: Rows,
  notifications: Rows,
  refreshFailures: Rows,
  exchangeRates: Rows,
};

/** Versions of the app that a store reports for the app receipt. */
export const AppDownload = v.strictObject({
  currentVersion: v.exactOptional(v.string()),
  originalVersion: v.exactOptional(v.string()),
});

export const RequestContent = v.strictObject({
  ...contentLists,
  tags: v.record(v.string(), TagType),
  appDownload: v.exactOptional(AppDownload),
  // Spec: not shown. `trimmed` counts the omitted rows of each list. `receipts` has the details of a validation.
  trimmed: v.exactOptional(v.record(v.string(), v.number())),
  receipts: v.exactOptional(Rows),
});
export type RequestContent = v.InferOutput<typeof RequestContent>;

export const EventSearchResult = v.strictObject({
  tag: v.string(),
  /** Empty in lists. */
  type: v.union([TagType, v.literal('')]),
  eventId: v.string(),
  context: RequestContext,
  content: RequestContent,
});
export type EventSearchResult = v.InferOutput<typeof EventSearchResult>;

export const EventAnalysisResult = v.strictObject({
  eventId: v.string(),
  context: RequestContext,
  content: RequestContent,
});
export type EventAnalysisResult = v.InferOutput<typeof EventAnalysisResult>;

const LooseObject = v.looseObject({});

/** Start and end of a request, in epoch milliseconds. */
export const RequestTiming = v.strictObject({ startedAt: v.number(), endedAt: v.number() });

/** A request of the service to a store or to the app's server. */
export const ExternalRequest = v.strictObject({
  type: v.string(),
  // Spec: not shown. The called store.
  platform: v.exactOptional(v.string()),
  url: v.string(),
  method: v.string(),
  body: v.exactOptional(LooseObject),
  response: v.exactOptional(LooseObject),
  error: v.exactOptional(LooseObject),
  timing: RequestTiming,
});

/** The error of a failed request. */
export const EventError = v.strictObject({ code: v.string(), status: v.number(), message: v.string() });

export const EventRawResult = v.strictObject({
  eventId: v.string(),
  date: DateTime,
  type: v.string(),
  request: v.exactOptional(LooseObject),
  response: v.exactOptional(LooseObject),
  error: v.exactOptional(EventError),
  externalRequests: v.exactOptional(v.array(ExternalRequest)),
});
export type EventRawResult = v.InferOutput<typeof EventRawResult>;
