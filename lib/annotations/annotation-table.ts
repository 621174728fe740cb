import * as v from 'valibot';
import { ServiceError } from '../foundation/errors.ts';
import { type Key, toDigest } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import type { Item } from '../foundation/table.ts';
import { toIso } from '../foundation/time.ts';
import type { Annotation, AnnotationRequest } from './contract.ts';

const AnnotationItem = v.object({ sk: v.string(), text: v.string(), createdAt: v.number() });

/** All annotations of an app are read at once: up to half a megabyte. */
const maxAnnotations = 500;

/** Stores an annotation. Idempotent. Throws `Conflict` if the app has too many. */
export async function saveAnnotation(
  service: Service,
  appName: string,
  { date, text }: AnnotationRequest,
): Promise<Annotation> {
  const key = keys.annotationKey(appName, date, toDigest(text));
  const all = await queryAnnotations(service, appName);
  const existing = all.find(({ sk }) => sk === key.sk);
  if (existing) return toAnnotation(existing);
  if (all.length >= maxAnnotations)
    throw new ServiceError('Conflict', `An app has at most ${maxAnnotations} annotations. Delete one first.`);
  const item = { ...key, text, createdAt: service.now() };
  await service.table.batchPut([item]);
  return toAnnotation(item);
}

/** Lists the annotations of a range of days (`YYYY-MM-DD`), both included, earliest first. */
export const listStoredAnnotations = async (
  service: Service,
  appName: string,
  range: { readonly startdate?: string | undefined; readonly enddate?: string | undefined },
): Promise<Annotation[]> => (await queryAnnotations(service, appName, range)).map(toAnnotation);

/** Deletes an annotation and returns it. Throws `ResourceNotFound`. */
export async function deleteStoredAnnotation(service: Service, appName: string, id: string): Promise<Annotation> {
  const key = parseId(appName, id);
  const item = key && (await service.table.get(key));
  if (!item) throw new ServiceError('ResourceNotFound', 'The annotation is not found.');
  await service.table.batchDelete([key]);
  return toAnnotation(item);
}

async function queryAnnotations(
  { table }: Service,
  appName: string,
  {
    startdate = '',
    enddate = '9',
  }: { readonly startdate?: string | undefined; readonly enddate?: string | undefined } = {},
): Promise<Item[]> {
  // DynamoDB rejects an empty range.
  if (startdate > enddate) return [];
  // `~` sorts after the digest of the last day.
  return await table.query({ partition: keys.annotationKey.partition(appName), between: [startdate, `${enddate}~`] });
}

function toAnnotation(item: Item): Annotation {
  const { sk, text, createdAt } = parse(AnnotationItem, item, 'DatabaseError');
  const { day, digest } = keys.annotationKey.parseSortKey(sk);
  return { id: `${day}-${digest}`, date: day, text, createdAt: toIso(createdAt) };
}

function parseId(appName: string, id: string): Key | undefined {
  const [, day, digest] = /^(\d{4}-\d\d-\d\d)-([\w-]+)$/.exec(id) ?? [];
  return day && digest ? keys.annotationKey(appName, day, digest) : undefined;
}
