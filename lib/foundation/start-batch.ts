import { isPermanent } from './errors.ts';
import type { Key } from './key.ts';
import type { Service } from './service.ts';
import type { Item, Table } from './table.ts';

/**
 * Returns the service record for one batch of messages or stream records, which are handled concurrently. Reads of
 * items and unconditional puts that begin at the same time share a request, because each request costs processor time.
 * Read and write units stay the same.
 */
export const startBatch = (service: Service): Service => ({
  ...service,
  table: shareTableCalls(service.table),
  batch: {},
});

function shareTableCalls(table: Table): Table {
  const readItems = collect<readonly Key[], Item[]>(async (lists) => {
    const items = new Map((await table.batchGet(uniqueItems(lists))).map((item) => [toText(item), item]));
    return (keys) => keys.map((key) => items.get(toText(key))).filter((item) => item !== undefined);
  });
  const putItems = collect<readonly Item[], void>(async (lists) => {
    await table.batchPut(uniqueItems(lists));
    return () => undefined;
  });
  return {
    ...table,
    get: async (key) => (await readItems([key]))[0],
    batchGet: async (keys, options) =>
      options?.isEventuallyConsistent ? await table.batchGet(keys, options) : await readItems(keys),
    batchPut: putItems,
  };
}

interface Keyed {
  readonly pk?: unknown;
  readonly sk?: unknown;
}

const toText = ({ pk, sk }: Keyed): string => `${pk}\n${sk}`;

/** A request cannot have two items with the same key. The last one counts. */
const uniqueItems = <T extends Keyed>(lists: readonly (readonly T[])[]): T[] => [
  ...new Map(lists.flat().map((item) => [toText(item), item])).values(),
];

/**
 * Returns a function that passes the inputs of all calls in a round of the event loop to `run`, whose result finds the
 * output of each. After a permanent error, it runs again for each input alone: no caller gets the error of another one.
 */
function collect<Input, Output>(
  run: (inputs: readonly Input[]) => Promise<(input: Input) => Output>,
): (input: Input) => Promise<Output> {
  let open: { readonly inputs: Input[]; readonly finding: Promise<(input: Input) => Output> } | undefined;
  const start = () => {
    const inputs: Input[] = [];
    const finding = new Promise((resolve) => setImmediate(resolve)).then(async () => {
      open = undefined;
      return await run(inputs);
    });
    return { inputs, finding };
  };
  return async (input) => {
    open ??= start();
    const { inputs, finding } = open;
    inputs.push(input);
    try {
      return (await finding)(input);
    } catch (error) {
      if (inputs.length === 1 || !isPermanent(error)) throw error;
      return (await run([input]))(input);
    }
  };
}
