import { measureMemory } from './memory.ts';

process.send?.(await measureMemory(), () => process.exit());
