// The roles of people who are signed in, in words.

const ROLES: Record<string, string> = {
  viewer: 'Viewer',
  cashier: 'Cashier',
  staff: 'Staff',
  admin: 'Administrator',
}

/** The service can add roles that this page does not know. It sends none if no role has the scopes of the person. */
export function roleText(role: string | undefined): string {
  return role === undefined ? 'Other permissions' : (ROLES[role] ?? role)
}
