import { type AccountObjects, findObject, type ObjectType, toApiList } from './account-objects.ts';
import { apiError } from './api-error.ts';

type Json = Record<string, unknown>;

/** What an object holds only when it is asked for. */
const includableFields: Readonly<
  Record<string, Readonly<Record<string, (books: AccountObjects, id: string) => unknown>>>
> = {
  'checkout.session': {
    line_items: (books, id) => toApiList(`/v1/checkout/sessions/${id}/line_items`, books.lineItems.get(id) ?? []),
  },
  invoice: { payments: (books, id) => listWhere(books, 'invoice_payments', 'invoice', id) },
  charge: { refunds: (books, id) => listWhere(books, 'refunds', 'charge', id) },
};

const listWhere = (books: AccountObjects, kind: ObjectType, field: string, id: string) =>
  toApiList(
    `/v1/${kind}?${field}=${id}`,
    [...books.objects[kind].values()].filter((object) => (object as unknown as Json)[field] === id).reverse(),
  );

const maxDepth = 4;

/** The object with the objects in the place of the ids that the paths lead to; refuses what cannot be expanded. */
export function expandObject(books: AccountObjects, object: unknown, paths: readonly string[]): unknown {
  const copy = structuredClone(object);
  for (const path of paths) {
    const steps = path.split('.');
    if (steps.length > maxDepth) {
      throw apiError(400, `You cannot expand more than ${maxDepth} levels of a property. Property: ${path}`);
    }
    follow(books, copy, { steps, path });
  }
  return copy;
}

function follow(books: AccountObjects, at: unknown, { steps, path }: { steps: readonly string[]; path: string }): void {
  const [step, ...rest] = steps;
  if (step === undefined || at === null) return;
  if (Array.isArray(at)) {
    for (const element of at) follow(books, element, { steps, path });
    return;
  }
  if (typeof at !== 'object') throw cannotExpand(path);
  const holder = at as Json;
  const include = includableFields[String(holder.object)]?.[step];
  if (include && holder[step] === undefined) holder[step] = structuredClone(include(books, String(holder.id)));
  if (holder[step] === undefined) throw cannotExpand(path);
  holder[step] = objectFor(books, holder[step], path);
  follow(books, holder[step], { steps: rest, path });
}

function objectFor(books: AccountObjects, value: unknown, path: string): unknown {
  if (Array.isArray(value)) return value.map((element) => objectFor(books, element, path));
  if (typeof value !== 'string' || value === '') return value;
  const found = findObject(books, value);
  if (found === undefined) throw cannotExpand(path);
  return structuredClone(found);
}

const cannotExpand = (path: string) =>
  apiError(400, `This property cannot be expanded (${path}).`, { param: 'expand' });
