import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectFolder } from '../infra/project-folder.ts';
import {
  listLosses,
  listStatefulResources,
  listUnrecorded,
  recordFile,
  type StatefulResources,
} from '../infra/stateful-resources.ts';
import { readStack } from './stack-templates.ts';

// Writes the record of the resources that hold data. Fails for a loss that is not accepted. `--check` writes nothing,
// and also fails for a resource that is not recorded.
const { accept, check } = parseArgs({
  options: { accept: { type: 'string', multiple: true, default: [] }, check: { type: 'boolean', default: false } },
}).values;
const file = join(projectFolder, recordFile);
const recorded = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as StatefulResources) : {};
const current = listStatefulResources((await readStack('stateful')).root);
const remaining = Object.fromEntries(Object.entries(recorded).filter(([id]) => !accept.includes(id)));
const problems = [...listLosses(remaining, current), ...(check ? listUnrecorded(recorded, current) : [])];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else if (check) console.log(`${Object.keys(current).length} resources that hold data agree with ${recordFile}.`);
else writeFileSync(file, `${JSON.stringify(current, null, 2)}\n`);
