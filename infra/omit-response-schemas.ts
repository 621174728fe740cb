import type { Plugin } from 'rolldown';
import { Visitor } from 'rolldown/utils';

/**
 * Omits the schemas of responses from contracts: commands and the API document read them, no function does. The other
 * code keeps its positions, so that the source maps stay correct.
 */
export const omitResponseSchemas: Plugin = {
  name: 'omit-response-schemas',
  transform: {
    filter: { id: '**/lib/**/*.ts', code: 'defineContract({' },
    handler(code) {
      let omitted = code;
      new Visitor({
        CallExpression({ callee, arguments: [contract] }) {
          if (callee.type !== 'Identifier' || callee.name !== 'defineContract') return;
          if (contract?.type !== 'ObjectExpression') return;
          for (const member of contract.properties) {
            if (member.type !== 'Property' || member.shorthand) continue;
            if (member.key.type !== 'Identifier' || member.key.name !== 'response') continue;
            const { start, end } = member.value;
            const blank = code.slice(start + 1, end).replace(/[^\n]/g, ' ');
            omitted = `${omitted.slice(0, start)}0${blank}${omitted.slice(end)}`;
          }
        },
      }).visit(this.parse(code, { lang: 'ts' }));
      return { code: omitted, map: null };
    },
  },
};
