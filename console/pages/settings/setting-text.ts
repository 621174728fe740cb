import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { getStoreSettings } from '../../../lib/stores/contract.ts';
import { parseJsonObject } from './parse-json-object.ts';

type Setting = ContractResponse<typeof getStoreSettings>['fields'][number];

/** The text of a saved setting in its field. Empty for a secret. */
export const toText = ({ value = '', kind }: Pick<Setting, 'kind' | 'value'>): string =>
  kind === 'json' && value !== '' ? JSON.stringify(value, null, 2) : String(value);

/** The setting of the text of a field; null removes it. Throws an `ApiError` if the text is not JSON. */
export function toSetting({ name, kind }: Pick<Setting, 'name' | 'kind'>, text: string): unknown {
  if (text.trim() === '') return null;
  if (kind === 'number') return Number(text);
  if (kind === 'boolean') return text === 'true';
  return kind === 'json' ? parseJsonObject(`{"value":${text}}`, name).value : text;
}
