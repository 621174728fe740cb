import { createCounterRepository } from '../lib/db/counter-repository.ts';
import { createPagedListRepository } from '../lib/db/paged-list-repository.ts';
import { once } from '../lib/shared/once.ts';
import { table } from './table.ts';

export const pagedLists = once(() => createPagedListRepository(table(), createCounterRepository(table())));
