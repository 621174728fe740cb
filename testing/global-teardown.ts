/** Stops the table engine of the test run and deletes its keys. */
// biome-ignore lint/style/noDefaultExport: jest calls the default export.
export default async function tearDown(): Promise<void> {
  await globalThis.tableEngine?.close();
  await globalThis.deleteRunKeys?.();
}
