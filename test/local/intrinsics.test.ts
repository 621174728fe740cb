// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of CloudFormation references.
import { describe, expect, it } from '@jest/globals';
import { resolveIntrinsics, type TemplateNames } from '../../local/intrinsics.ts';

const names: TemplateNames = { ref: (id) => `ref(${id})`, attribute: (id, name) => `${id}.${name}!` };

describe('resolveIntrinsics', () => {
  it.each([
    [{ Ref: 'Table' }, 'ref(Table)'],
    [{ 'Fn::GetAtt': ['Table', 'Arn'] }, 'Table.Arn!'],
    [{ 'Fn::GetAtt': 'Table.Stream.Arn' }, 'Table.Stream.Arn!'],
    [{ 'Fn::Join': ['/', ['a', { Ref: 'B' }]] }, 'a/ref(B)'],
    [{ 'Fn::Sub': '${A}-${B.Arn}-${!C}' }, 'ref(A)-B.Arn!-${C}'],
    [{ 'Fn::Sub': ['${own}/${A}', { own: { Ref: 'X' } }] }, 'ref(X)/ref(A)'],
  ])('resolves %j', (value, expected) => {
    expect(resolveIntrinsics(value, names)).toBe(expected);
  });

  it('keeps plain values at any depth', () => {
    expect(resolveIntrinsics({ a: [{ b: { Ref: 'C' }, d: 1 }], e: null }, names)).toEqual({
      a: [{ b: 'ref(C)', d: 1 }],
      e: null,
    });
  });

  it('omits members with AWS::NoValue', () => {
    expect(resolveIntrinsics({ a: { Ref: 'AWS::NoValue' }, b: [{ Ref: 'AWS::NoValue' }, 2] }, names)).toEqual({
      b: [2],
    });
  });

  it('rejects an unknown intrinsic function', () => {
    expect(() => resolveIntrinsics({ a: { 'Fn::Cidr': [] } }, names)).toThrow('Fn::Cidr');
  });
});
