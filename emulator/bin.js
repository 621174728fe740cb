#!/usr/bin/env node
// Node 20 does not run TypeScript.
import { register } from 'tsx/esm/api';

register();
await import('./start.ts');
