import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Contract } from '../lib/api/contract.ts';
import { contracts } from '../lib/api/index.ts';
import { joinStackTemplates, readStackTemplates } from '../local/nested-stacks.ts';
import { createStack } from './create-stack.ts';
import { createEmptyBundles } from './empty-bundles.ts';
import { findFindingsOfChanges, findStackFindings } from './stack-findings.ts';
import { type StackId, stackOptions } from './stack-options.ts';

// Synthesizes the stacks that tests read, and their findings, into the folder of the argument, as JSON.
const [folder = ''] = process.argv.slice(2);
const write = (name: string, value: unknown): void =>
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(value));

/** Endpoints that are spread over the areas like the endpoints of the service. */
const addedContracts = Array.from({ length: 60 }, (_element, index): Contract => {
  const contract = contracts[index % contracts.length] as Contract;
  return { ...contract, id: `${contract.id}-${index}`, path: `/added/${index}`, aliases: [] };
});

for (const [id, options] of Object.entries(stackOptions)) {
  const { app, stack } = createStack(
    options,
    id === ('grown' satisfies StackId) ? [...contracts, ...addedContracts] : contracts,
  );
  const { directory } = app.synth();
  const { root, nested } = readStackTemplates(directory, stack.artifactId);
  write(id, {
    stackName: stack.stackName,
    isProtected: stack.terminationProtection,
    root,
    nested: Object.fromEntries(nested),
    joined: joinStackTemplates({ root, nested }),
  });
  rmSync(directory, { recursive: true });
}
write('findings', {
  none: findStackFindings('none'),
  every: findStackFindings('every'),
  changed: findFindingsOfChanges(),
});
rmSync(createEmptyBundles(), { recursive: true });
