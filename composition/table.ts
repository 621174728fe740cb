import { createTableClient } from '../lib/foundation/table.ts';
import { once } from '../lib/shared/once.ts';
import { clientOptions, requireVariable } from './environment.ts';

export const table = once(() => createTableClient(requireVariable('TABLE_NAME'), clientOptions()));
