import { type AccountObjects, findObject, type ObjectType, toApiList } from './account-objects.ts';
import { apiError } from './api-error.ts';

type Json = Record<string, unknown>;

/**
 * Members that an object contains only if they are expanded.
 *
 * @see https://docs.stripe.com/api/expanding_objects
 */
const includableFields: Readonly<
  Record<string, Readonly<Record<string, (records: AccountObjects, id: string) => unknown>>>
> = {
  'checkout.session': {
    line_items: (records, id) => toApiList(`/v1/checkout/sessions/${id}/line_items`, records.lineItems.get(id) ?? []),
  },
  invoice: { payments: (records, id) => listByReference(records, 'invoice_payments', 'invoice', id) },
  charge: { refunds: (records, id) => listByReference(records, 'refunds', 'charge', id) },
  price: { currency_options: listCurrencies },
};

/** Each price has one currency. */
function listCurrencies({ objects }: AccountObjects, id: string) {
  const price = objects.prices.get(id);
  if (!price) return {};
  const { currency, unit_amount, tax_behavior } = price;
  return { [currency]: { custom_unit_amount: null, tax_behavior, unit_amount } };
}

const listByReference = (records: AccountObjects, type: ObjectType, field: string, id: string) =>
  toApiList(
    `/v1/${type}?${field}=${id}`,
    [...records.objects[type].values()].filter((object) => (object as unknown as Json)[field] === id).reverse(),
  );

const maxDepth = 4;

/** Replaces the ids at the paths by their objects. Throws 400 if a path cannot be expanded. */
export function expandObject(records: AccountObjects, object: unknown, paths: readonly string[]): unknown {
  const copy = structuredClone(object);
  for (const path of paths) {
    const steps = path.split('.');
    if (steps.length > maxDepth) {
      throw apiError(400, `You cannot expand more than ${maxDepth} levels of a property. Property: ${path}`);
    }
    expandPath(records, copy, { steps, path });
  }
  return copy;
}

function expandPath(
  records: AccountObjects,
  target: unknown,
  { steps, path }: { steps: readonly string[]; path: string },
): void {
  const [step, ...rest] = steps;
  if (step === undefined || target === null) return;
  if (Array.isArray(target)) {
    for (const element of target) expandPath(records, element, { steps, path });
    return;
  }
  if (typeof target !== 'object') throw expansionError(path);
  const parent = target as Json;
  const include = includableFields[String(parent.object)]?.[step];
  if (include && parent[step] === undefined) parent[step] = structuredClone(include(records, String(parent.id)));
  if (parent[step] === undefined) throw expansionError(path);
  parent[step] = resolveReference(records, parent[step], path);
  expandPath(records, parent[step], { steps: rest, path });
}

function resolveReference(records: AccountObjects, value: unknown, path: string): unknown {
  if (Array.isArray(value)) return value.map((element) => resolveReference(records, element, path));
  if (typeof value !== 'string' || value === '') return value;
  const object = findObject(records, value);
  if (object === undefined) throw expansionError(path);
  return structuredClone(object);
}

const expansionError = (path: string) =>
  apiError(400, `This property cannot be expanded (${path}).`, { param: 'expand' });
