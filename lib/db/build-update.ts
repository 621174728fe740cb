import type { Key } from './keys.ts';
import type { Item, Update } from './table.ts';

/** A condition as DynamoDB writes it, with the values that it compares with. */
interface UpdateCondition {
  readonly expression: string;
  readonly values?: Item;
  readonly names?: Readonly<Record<string, string>>;
}

/** The update that sets the defined fields of an item and removes the others. */
export function buildUpdate(key: Key, fields: Item, condition?: UpdateCondition): Update {
  const entries = Object.entries(fields).map(([name, value], index) => ({ name, value, place: `f${index}` }));
  const set = entries.filter(({ value }) => value !== undefined);
  const removed = entries.filter(({ value }) => value === undefined);
  const list = (batch: typeof entries, write: (place: string) => string) =>
    batch.map(({ place }) => write(place)).join(', ');
  const values = { ...Object.fromEntries(set.map(({ place, value }) => [`:${place}`, value])), ...condition?.values };
  return {
    Key: { ...key },
    UpdateExpression: [
      set.length > 0 ? `SET ${list(set, (place) => `#${place} = :${place}`)}` : '',
      removed.length > 0 ? `REMOVE ${list(removed, (place) => `#${place}`)}` : '',
    ].join(' '),
    ExpressionAttributeNames: {
      ...Object.fromEntries(entries.map(({ name, place }) => [`#${place}`, name])),
      ...condition?.names,
    },
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    ...(condition && { ConditionExpression: condition.expression }),
  };
}
