import { Command } from 'commander';
import type { ConnectionOptions } from '../connect.ts';
import { formatExamples } from '../examples.ts';
import { createOutput } from '../output.ts';

export const createMcpCommand = (): Command =>
  new Command('mcp')
    .description('Serve nine read-only tools to an AI assistant, over standard input and output (MCP)')
    .addHelpText('after', formatExamples('mcp --local', 'mcp --profile support'))
    .addHelpText(
      'after',
      '\n--profile names a viewer key of ~/.claimcheck/profiles.json; see docs/guides/connect-an-assistant.md.',
    )
    .action(serveAction);

async function serveAction(_options: object, command: Command): Promise<void> {
  // The SDK takes longer to load than the rest of the command line.
  const [{ readApiConnection }, { createApiReader }, { serveMcp }] = await Promise.all([
    import('./api-connection.ts'),
    import('./api-reader.ts'),
    import('./serve-mcp.ts'),
  ]);
  const connection = readApiConnection(command.optsWithGlobals<ConnectionOptions>());
  await serveMcp(createApiReader(connection), createOutput(command).listenForInterrupt());
}
