import { type JsonSchema, SchemaConverter } from '../api/json-schema.ts';
import {
  ExportedCredit,
  ExportedCustomer,
  ExportedEntitlement,
  ExportedPurchase,
  ExportedTransaction,
} from './export-rows.ts';
import type { ExportTable } from './export-state.ts';

const rows = {
  purchases: ExportedPurchase,
  transactions: ExportedTransaction,
  customers: ExportedCustomer,
  entitlements: ExportedEntitlement,
  credits: ExportedCredit,
} as const satisfies Readonly<Record<ExportTable, unknown>>;

/** Builds the JSON Schema of an export: a definition of the rows of each table. */
export function buildExportSchema(): JsonSchema {
  const converter = new SchemaConverter([]);
  const definitions = Object.entries(rows).map(([table, schema]) => [
    table,
    withDecimalAmounts(converter.convert(schema, 'output')),
  ]);
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', $defs: Object.fromEntries(definitions) };
}

/** Only amounts in US dollars have decimals: all other numbers are integers. */
const withDecimalAmounts = (schema: JsonSchema): JsonSchema =>
  JSON.parse(JSON.stringify(schema), (name, value: unknown) => (name.endsWith('USD') ? toDecimal(value) : value));

function toDecimal(schema: unknown): JsonSchema {
  const { type } = schema as JsonSchema;
  return { type: Array.isArray(type) ? ['number', 'null'] : 'number', format: 'double' };
}
