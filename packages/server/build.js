// Builds `dist/`: ES modules and CommonJS, each with the types.
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

const folder = import.meta.dirname;
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
rmSync(join(folder, 'dist'), { recursive: true, force: true });
execFileSync(process.execPath, [tsc, '-p', folder], { stdio: 'inherit' });
cpSync(join(folder, 'dist/esm'), join(folder, 'dist/cjs'), { recursive: true });
for (const format of ['esm', 'cjs'])
  await build({
    entryPoints: [join(folder, 'index.ts')],
    outfile: join(folder, `dist/${format}/index.js`),
    bundle: true,
    format,
    target: 'es2022',
  });
writeFileSync(join(folder, 'dist/cjs/package.json'), '{"type":"commonjs"}\n');
