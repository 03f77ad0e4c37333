// Families of roles: a colour and a mark each, so that nothing is told by colour alone (src/headscope/heads/role_table.py).
import type { Family, Report } from "../schema";

/** A family that nobody knows has no role: a report may be of another version. */
export function familyOf({ roles }: Report, name: string): Family {
  return roles.families.find((family) => family.name === name) ?? roles.families[roles.families.length - 1];
}

export function familyColour(report: Report, name: string, dark: boolean): string {
  const family = familyOf(report, name);
  return dark ? family.dark : family.light;
}

/** A role in a few characters; a relation is its own name. */
export function markOf({ roles }: Report, role: string): string {
  return roles.marks[role] ?? role;
}
