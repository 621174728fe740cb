import * as v from 'valibot';
import { TagType } from './enumerations.ts';
import { DateTime } from './schemas.ts';

const Rows = v.array(v.looseObject({}));

export const RequestContext = v.strictObject({
  appName: v.string(),
  eventType: v.string(),
  eventDate: DateTime,
  eventDateMs: v.number(),
  applicationUsername: v.exactOptional(v.string()),
  req_id: v.exactOptional(v.string()),
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

export const RequestContent = v.strictObject({
  ...contentLists,
  tags: v.record(v.string(), TagType),
  appDownload: v.exactOptional(
    v.strictObject({ currentVersion: v.exactOptional(v.string()), originalVersion: v.exactOptional(v.string()) }),
  ),
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

const ExternalRequest = v.strictObject({
  type: v.string(),
  url: v.string(),
  method: v.string(),
  body: v.exactOptional(LooseObject),
  response: v.exactOptional(LooseObject),
  error: v.exactOptional(LooseObject),
  timing: v.strictObject({ startedAt: v.number(), endedAt: v.number() }),
});

export const EventRawResult = v.strictObject({
  eventId: v.string(),
  date: DateTime,
  type: v.string(),
  request: v.exactOptional(LooseObject),
  response: v.exactOptional(LooseObject),
  error: v.exactOptional(v.strictObject({ code: v.string(), status: v.number(), message: v.string() })),
  externalRequests: v.exactOptional(v.array(ExternalRequest)),
});
export type EventRawResult = v.InferOutput<typeof EventRawResult>;
