#!/usr/bin/env node
import { runProgram } from '../infra/program.js';

await runProgram({
  name: 'command-line',
  title: 'the command line',
  sources: ['cli', 'infra', 'lib'],
  entry: 'cli/main.ts',
  builder: 'infra/build-command-line.ts',
});
