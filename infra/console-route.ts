/** Paths of the console and of the API document. They are no contracts: their responses are files of the build. */
export const consoleRoute = {
  id: 'get-console',
  summary: 'Get the web console, its assets or the API document',
  paths: ['/console', '/console/:proxy+', '/openapi.json'],
  methods: ['GET'],
} as const;
