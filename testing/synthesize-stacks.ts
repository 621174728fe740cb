import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Contract } from '../lib/api/contract.ts';
import { contracts } from '../lib/contracts/index.ts';
import { joinStackTemplates, readStackTemplates } from '../local/nested-stacks.ts';
import { createStack } from './create-stack.ts';
import { createEmptyBundles } from './empty-bundles.ts';
import { checkStack, findFindingsOfChanges, type StackFindings } from './stack-findings.ts';
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

/** Findings of the stacks that are checked, by id. */
const findings: Record<string, StackFindings> = {};
const checkedStacks: readonly string[] = ['none', 'every'] satisfies StackId[];

for (const [id, options] of Object.entries(stackOptions)) {
  const created = createStack(
    options,
    id === ('grown' satisfies StackId) ? [...contracts, ...addedContracts] : contracts,
  );
  const { app, stack } = created;
  if (checkedStacks.includes(id)) findings[id] = checkStack(created);
  else app.synth();
  const { root, nested } = readStackTemplates(app.outdir, stack.artifactId);
  write(id, {
    stackName: stack.stackName,
    isProtected: stack.terminationProtection,
    root,
    nested: Object.fromEntries(nested),
    joined: joinStackTemplates({ root, nested }),
  });
  rmSync(app.outdir, { recursive: true });
}
write('findings', { ...findings, changed: findFindingsOfChanges() });
rmSync(createEmptyBundles(), { recursive: true });
