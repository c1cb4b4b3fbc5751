"""What robots may do: by a site's robots.txt, and by a page's own directives."""
