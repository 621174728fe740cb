import { marshall, type marshallOptions } from '@aws-sdk/util-dynamodb';

/** Members that contain an item or a part of one. */
const itemMembers = new Set([
  'Key',
  'Item',
  'Attributes',
  'ExpressionAttributeValues',
  'ExclusiveStartKey',
  'LastEvaluatedKey',
]);

/** Members that contain a list of items or keys. */
const itemListMembers = new Set(['Keys', 'Items']);

/**
 * Writes the input of a document command as the JSON of the DynamoDB API.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html
 */
export function toDynamoJson(input: object, options: marshallOptions = {}): string {
  const convert = (item: unknown) =>
    marshall(item as Record<string, unknown>, { ...options, convertTopLevelContainer: false });
  return JSON.stringify(convertItems(input, convert), encodeBinary);
}

/** Reads the JSON of a response of the DynamoDB API as the output of a document command, with plain numbers. */
export function fromDynamoJson(text: string): object {
  const { Responses, ...output } = JSON.parse(text) as { Responses?: Record<string, unknown[]> };
  const responses = Object.entries(Responses ?? {}).map(([table, items]) => [table, items.map(toItem)]);
  return { ...convertItems(output, toItem), ...(Responses && { Responses: Object.fromEntries(responses) }) };
}

type Attribute = Readonly<Record<string, unknown>>;

const toItem = (attributes: unknown): Attribute =>
  Object.fromEntries(
    Object.entries(attributes as Attribute).map(([name, value]) => [name, toValue(value as Attribute)]),
  );

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html */
function toValue(attribute: Attribute): unknown {
  const [[type, value] = []] = Object.entries(attribute);
  if (type === 'N') return Number(value);
  if (type === 'NULL') return null;
  if (type === 'M') return toItem(value);
  if (type === 'L') return (value as Attribute[]).map(toValue);
  if (type === 'B') return toBytes(value);
  if (type === 'SS') return new Set(value as string[]);
  if (type === 'NS') return new Set((value as string[]).map(Number));
  if (type === 'BS') return new Set((value as string[]).map(toBytes));
  return value;
}

const toBytes = (text: unknown): Uint8Array => new Uint8Array(Buffer.from(text as string, 'base64'));

function convertItems(value: object, convert: (item: unknown) => unknown): object {
  if (Array.isArray(value)) return value.map((element) => convertValue(element, convert));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (itemMembers.has(name)) return [name, member && convert(member)];
      if (itemListMembers.has(name)) return [name, member.map(convert)];
      return [name, convertValue(member, convert)];
    }),
  );
}

const convertValue = (value: unknown, convert: (item: unknown) => unknown): unknown =>
  typeof value === 'object' && value !== null ? convertItems(value, convert) : value;

function encodeBinary(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const { [name]: original } = this;
  return name === 'B' && original instanceof Uint8Array ? Buffer.from(original).toString('base64') : value;
}
