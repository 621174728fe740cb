import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { type ApiPart, dayRange, describeObject, describeOperation } from '../api/describe.ts';
import { QueryDay } from '../api/paging.ts';
import { DateTime, emptyAsAbsent, Id, PlatformToken } from '../api/schemas.ts';

const common = { area: 'stats', keyLevel: 'secret', errorFormat: 'default', aliases: [] } as const;

/** A text on a day of the charts, such as a release or a change of prices. */
const AnnotationRequest = v.strictObject({
  date: QueryDay,
  text: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(300)),
});
export type AnnotationRequest = v.InferOutput<typeof AnnotationRequest>;

export const Annotation = v.strictObject({ id: v.string(), ...AnnotationRequest.entries, createdAt: DateTime });
export type Annotation = v.InferOutput<typeof Annotation>;

/** The regular price of a product in a currency became another one. Found from the payments. */
export const PriceChange = v.strictObject({
  /** Day of the first payment of the new price. */
  date: v.string(),
  platform: PlatformToken,
  productId: v.string(),
  currency: v.string(),
  fromMicros: v.number(),
  toMicros: v.number(),
  countries: v.pipe(v.array(v.string()), v.readonly()),
});
export type PriceChange = v.InferOutput<typeof PriceChange>;
const AnnotationList = v.strictObject({ rows: v.array(Annotation), priceChanges: v.array(PriceChange) });

// Spec: not shown.
export const createAnnotation = defineContract({
  ...common,
  id: 'create-annotation',
  summary: 'Annotate a day of the charts',
  method: 'POST',
  path: '/v3/annotations',
  eventType: 'app.changed',
  body: AnnotationRequest,
  response: Annotation,
  permissions: ['write'],
  writes: ['annotations'],
});

export const listAnnotations = defineContract({
  ...common,
  id: 'list-annotations',
  summary: 'List the annotations of the charts',
  method: 'GET',
  path: '/v3/annotations',
  eventType: 'stats.read',
  query: v.object({ startdate: emptyAsAbsent(QueryDay), enddate: emptyAsAbsent(QueryDay) }),
  response: AnnotationList,
  permissions: [],
});

export const deleteAnnotation = defineContract({
  ...common,
  id: 'delete-annotation',
  summary: 'Delete an annotation',
  method: 'DELETE',
  path: '/v3/annotations/:annotationId',
  eventType: 'app.changed',
  params: v.object({ annotationId: Id }),
  response: Annotation,
  permissions: ['write'],
  writes: ['annotations'],
});

const idText = [
  'Id of the annotation. The same text on the same day has the same id.',
  '2026-01-15-bfgLYtBhFV_aUd8Tn8clgO',
] as const;

const descriptions = [
  describeObject('AnnotationRequest', AnnotationRequest, 'A text on a day of the charts.', {
    date: ['The day, `YYYY-MM-DD`.', '2026-01-15'],
    text: ['The text, up to 300 characters, such as a release or a change of prices.', 'Release 2.0'],
  }),
  describeObject('Annotation', Annotation, 'A text on a day of the charts.', {
    id: idText,
    date: ['The day, `YYYY-MM-DD`.', '2026-01-15'],
    text: ['The text.', 'Release 2.0'],
    createdAt: ['When it was created.', '2026-01-15T09:30:00.000Z'],
  }),
  describeObject('PriceChange', PriceChange, 'A change of the regular price of a product, found from the payments.', {
    date: ['Day of the first payment of the new price (UTC).', '2026-01-15'],
    platform: ['The platform.'],
    productId: ['The product with its platform prefix.', 'store_a:premium'],
    currency: ['ISO 4217 code of the prices.', 'EUR'],
    fromMicros: ['The price before, in millionths.', 9990000],
    toMicros: ['The new price.', 11990000],
    countries: ['Countries in which the new price was paid: ISO 3166-1 codes of two letters.', ['DE', 'FR']],
  }),
  describeObject('AnnotationList', AnnotationList, 'Annotations of the charts.', {
    rows: ['The annotations of the range, by day.'],
    priceChanges: [
      'The price changes of the range, by day. A new price counts from three payments on, and with a tenth of the ' +
        'payments of its month and the next one. Trials, offers, prorated payments and single payments ' +
        'at processors do not count, and prices are without the tax that the store reports. Empty for an app with more than 30,000 products by country and month.',
    ],
  }),
];

const operations = [
  describeOperation(createAnnotation, {
    description:
      'Annotates a day of the charts. The same text on the same day is one annotation, so that a request can be repeated. An app has at most 500.',
    errors: { 409: ['The app has the maximum number of annotations.'] },
  }),
  describeOperation(listAnnotations, {
    description:
      'Returns the annotations of a range of days, by default all of them, and the price changes that the payments ' +
      'show, by default those of the last 12 months.',
    query: dayRange,
  }),
  describeOperation(deleteAnnotation, {
    description: 'Deletes an annotation, and returns it.',
    params: { annotationId: idText },
    errors: { 404: ['The annotation is not found.'] },
  }),
];

export const annotationApi: ApiPart = { descriptions, operations };
