import { playDemo, readDemoService } from './demo.ts';

try {
  await playDemo(readDemoService(process.argv[2] ?? '.local'), console.log);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
