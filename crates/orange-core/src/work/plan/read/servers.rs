//! Reads the MCP servers of a phase: names, or a mapping of names to how each is started.

use super::fields::{PlanFields, PlanReader};
use super::values::{check_name, command_of, env_of, is_empty, text_of, texts_of};
use crate::work::plan::McpServer;
use crate::yaml::Node;

const SERVER_FIELDS: [&str; 5] = ["command", "args", "env", "url", "type"];

impl PlanReader<'_> {
    pub(super) fn servers_of_phase(&mut self, fields: &PlanFields<'_>) -> Vec<McpServer> {
        let own = fields
            .get("mcp_servers")
            .map(|node| (fields.path_of("mcp_servers"), node));
        let of_claude = fields.get("claude_config").and_then(|node| {
            let path = fields.path_of("claude_config");
            let fields = PlanFields::of(self, &path, node, &["mcp_servers"]);
            let node = fields.get("mcp_servers")?;
            Some((fields.path_of("mcp_servers"), node))
        });
        let mut servers: Vec<McpServer> = Vec::new();
        for (path, node) in own.into_iter().chain(of_claude) {
            for server in self.servers(&path, node) {
                if !servers.iter().any(|known| known.name == server.name) {
                    servers.push(server);
                }
            }
        }
        servers
    }

    fn servers(&mut self, path: &str, node: &Node) -> Vec<McpServer> {
        let by_name = |name: String| McpServer {
            name,
            ..McpServer::default()
        };
        match node {
            Node::Mapping { entries, .. } => {
                let servers = entries.iter().filter_map(|entry| {
                    let path = format!("{path}.{}", entry.key);
                    check_name(&entry.key)
                        .map_err(|why| self.mistake(&path, entry.key_span.start, &why))
                        .ok()?;
                    self.server(&path, &entry.key, &entry.value)
                });
                servers.collect()
            }
            Node::Scalar { .. } | Node::Sequence { .. } => {
                let names = texts_of(node).and_then(|names| {
                    names.iter().try_for_each(|name| check_name(name))?;
                    Ok(names)
                });
                match names {
                    Ok(names) => names.into_iter().map(by_name).collect(),
                    Err(why) => {
                        self.mistake(path, node.span().start, &why);
                        Vec::new()
                    }
                }
            }
        }
    }

    fn server(&mut self, path: &str, name: &str, node: &Node) -> Option<McpServer> {
        let name = name.to_owned();
        match node {
            node if is_empty(node) => {
                return Some(McpServer {
                    name,
                    ..McpServer::default()
                });
            }
            Node::Scalar { .. } | Node::Sequence { .. } => {
                let command =
                    command_of(node).map_err(|why| self.mistake(path, node.span().start, &why));
                return Some(McpServer {
                    name,
                    command: command.ok()?,
                    ..McpServer::default()
                });
            }
            Node::Mapping { .. } => {}
        }
        let fields = PlanFields::of(self, path, node, &SERVER_FIELDS);
        let mut command = fields
            .optional(self, "command", command_of)
            .unwrap_or_default();
        let arguments = fields.optional(self, "args", texts_of).unwrap_or_default();
        if command.is_empty() && !arguments.is_empty() {
            self.mistake(
                &fields.path_of("args"),
                fields.start,
                "there is no command for them",
            );
        }
        command.extend(arguments);
        let url = fields.optional(self, "url", text_of);
        if url.is_some() && !command.is_empty() {
            self.mistake(
                path,
                fields.start,
                "has a command and a URL; one of both is enough",
            );
        }
        let env = fields.optional(self, "env", env_of).unwrap_or_default();
        Some(McpServer {
            name,
            command,
            env,
            url,
        })
    }
}
