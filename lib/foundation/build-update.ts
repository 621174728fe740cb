import type { Key } from './key.ts';
import type { Item, Update } from './table.ts';

/** A condition expression with its attribute names and values. */
interface UpdateCondition {
  readonly expression: string;
  readonly values?: Item;
  readonly names?: Readonly<Record<string, string>>;
}

/** Builds the update that sets the defined fields of an item and removes the undefined ones. */
export function buildUpdate(key: Key, fields: Item, condition?: UpdateCondition): Update {
  const attributes = Object.entries(fields).map(([name, value], index) => ({ name, value, placeholder: `f${index}` }));
  const setAttributes = attributes.filter(({ value }) => value !== undefined);
  const removedAttributes = attributes.filter(({ value }) => value === undefined);
  const setClauses = setAttributes.map(({ placeholder }) => `#${placeholder} = :${placeholder}`);
  const removeClauses = removedAttributes.map(({ placeholder }) => `#${placeholder}`);
  const values = {
    ...Object.fromEntries(setAttributes.map(({ placeholder, value }) => [`:${placeholder}`, value])),
    ...condition?.values,
  };
  return {
    Key: { ...key },
    UpdateExpression: [
      setClauses.length > 0 ? `SET ${setClauses.join(', ')}` : '',
      removeClauses.length > 0 ? `REMOVE ${removeClauses.join(', ')}` : '',
    ].join(' '),
    ExpressionAttributeNames: {
      ...Object.fromEntries(attributes.map(({ name, placeholder }) => [`#${placeholder}`, name])),
      ...condition?.names,
    },
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    ...(condition && { ConditionExpression: condition.expression }),
  };
}
